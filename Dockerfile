# The dashboard and the command line, with the exact packages of requirements/run.lock.
#   docker build -t appellate .
#   docker run -p 127.0.0.1:8501:8501 -e APPELLATE_ALLOW_REMOTE=1 -v appellate:/data appellate
#   docker run --rm -v "$PWD:/work" -w /work appellate audit votes.csv
# docs/deployment.md says how to serve others.
FROM python:3.12-slim-bookworm

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONPATH=/opt \
    APPELLATE_STORE=/data/votes.duckdb

RUN useradd --uid 10001 --create-home appellate && install --directory --owner=appellate --group=appellate /data

COPY requirements/run.lock requirements/sign-in.lock /tmp/requirements/
RUN python -m pip install --require-hashes -r /tmp/requirements/run.lock -r /tmp/requirements/sign-in.lock

# As the wheel has it, so that nothing needs to be built here.
COPY distribution /opt/appellate
COPY core /opt/appellate/core
COPY pages /opt/appellate/pages
COPY app.py /opt/appellate/app.py
COPY .streamlit/config.toml /opt/appellate/.streamlit/config.toml
COPY data/README.md data/example_first_shown.csv data/example_overconfident.csv data/demo_votes.csv.gz data/demo_fuser.csv.gz data/demo_answers.csv.gz data/demo_scores.csv.gz data/demo_rankings.csv.gz /opt/appellate/data/
RUN python -m compileall -q /opt/appellate

USER appellate
WORKDIR /data
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "import os, urllib.request as web; web.urlopen('http://localhost:' + os.environ.get('STREAMLIT_SERVER_PORT', '8501') + '/_stcore/health', timeout=4)"]

# -P: a module of a mounted folder must not stand in for one of the packages. Another address than this machine's own
# needs sign-in, or APPELLATE_ALLOW_REMOTE=1 where only this machine reaches the published port.
ENTRYPOINT ["python", "-P", "-m", "appellate"]
CMD ["app", "--address", "0.0.0.0"]
