"""The loop: observe, stage, push, do; and the lease under which it writes."""
