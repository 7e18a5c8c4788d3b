"""The conformance kit: it kills a checkout at chosen points, and judges what it paid."""
