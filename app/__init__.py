"""The app: a Panel page over the engine. `panel serve app` serves it at /app. Absolute imports only (see app/main.py)."""
