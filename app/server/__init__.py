"""The command `llc-lab`, the entry for JupyterLab, the report as a web page."""
