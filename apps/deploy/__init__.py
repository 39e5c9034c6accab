"""What a service is installed with: files to print and to put in their places."""
