"""Ten thousand ways to be called badly: what murli promises, kept under every one of them."""
