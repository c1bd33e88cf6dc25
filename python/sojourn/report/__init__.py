"""What results mean: definitions of columns, grades, the verdict, and the pages that show them."""
