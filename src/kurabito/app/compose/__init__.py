"""The product's parts over one open queue: one module for each domain, which makes its objects and joins them."""
