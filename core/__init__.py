"""Appellate's statistics: votes of LLM judges in, numbers with their intervals out. Never imports Streamlit."""
