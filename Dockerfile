# The site, and with another command a worker: docs/containers.md
FROM python:3.13-slim

RUN useradd --uid 10001 --no-create-home tabie
WORKDIR /app

# e.g. --build-arg LISTS="requirements.txt requirements-gemini.txt"
ARG LISTS="requirements.txt"
COPY requirements*.txt ./
RUN for list in $LISTS; do pip install --no-cache-dir --require-hashes -r $list || exit 1; done

COPY . .
# Made-up values: collecting files needs settings, but no database and no secret.
RUN SECRET_KEY=only-for-building-0123456789-abcdefghijklmn ALLOWED_HOSTS=localhost \
    DATABASE_URL=sqlite://:memory: python manage.py collectstatic --noinput
# Written to only without a bucket. The rest belongs to root, so no process can change its code.
RUN install -d -o tabie media answers

USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD \
    ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["gunicorn", "--bind", "0.0.0.0:8000"]
