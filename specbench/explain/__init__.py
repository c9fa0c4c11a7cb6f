"""All sentences, labels and number formats that people read in results and reports: values in, text out."""
