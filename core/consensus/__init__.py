"""Many judgements become one: juries of judges, and rankings of one judge in many orders."""
