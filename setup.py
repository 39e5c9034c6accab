"""Package metadata of ADON; tool settings are in pyproject.toml, reasons in docs/dependencies.md."""

from setuptools import find_packages, setup

setup(
    name="adon",
    version="0.1.0",
    description="Application-driven transit and compute selection for data-intensive science",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=find_packages(include=["adon*", "measurement*", "apps*", "mininet_topos*"]),
    package_data={
        "adon.templates_catalog": ["builtin/*.yaml"],
        "adon.store": ["migrations/*.mako"],
        "apps.rest": ["templates/*.html", "static/*"],
        "mininet_topos": ["**/*.html", "**/*.yaml"],
    },
    install_requires=[
        "alembic>=1.13,<2",
        "cheroot>=10,<12",
        "cryptography>=42",
        "defusedxml>=0.7,<1",
        "flask>=3,<4",
        "flask-openapi3>=4,<5",
        "datasketches>=5,<6",
        "jsonschema>=4.20,<5",
        "numpy>=1.26,<3",
        "os-ken>=4,<5",
        "pika>=1.3,<2",
        "pint>=0.24,<1",
        "prometheus-client>=0.20,<1",
        "psutil>=5.9,<8",
        "pydantic>=2.7,<3",
        "pyyaml>=6,<7",
        "referencing>=0.30",
        "requests>=2.31,<3",
        "rich>=13,<16",
        "sqlalchemy>=2.0,<3",
        "typer>=0.12,<1",
        "urllib3>=2.1,<3",
    ],
    extras_require={
        "report": ["plotly>=6,<8", "kaleido>=1,<2"],
        "parquet": ["pyarrow>=15"],
        "bench": ["ortools>=9.10,<10", "plotly>=6,<8"],
        "postgresql": ["psycopg[binary]>=3.1,<4"],
        "dev": [
            "hypothesis>=6.100,<7",
            "mypy>=1.10,<3",
            "ortools>=9.10,<10",
            "psycopg[binary]>=3.1,<4",
            "pyarrow>=15",
            "pytest>=8,<10",
            "ruff>=0.6,<1",
            "types-defusedxml",
            "types-jsonschema",
            "types-psutil",
            "types-PyYAML",
            "types-requests",
        ],
    },
    entry_points={
        "console_scripts": [
            "adon=apps.cli.main:main",
            "adon-measurement-point=measurement.point.main:main",
        ]
    },
)
