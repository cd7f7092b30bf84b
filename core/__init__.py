"""Appellate's statistics: votes of LLM judges in, numbers with intervals out. Never imports Streamlit."""
