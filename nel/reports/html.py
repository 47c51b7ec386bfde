"""report.html (placeholder until the page lands)."""
from pathlib import Path
def write_report(run_dir: Path) -> Path:
    """Write the page."""
    p=run_dir/"report.html"; p.write_text("x"); return p
