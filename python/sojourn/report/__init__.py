"""Reports: column definitions, grades, the verdict, and HTML pages and notebook output."""
