-- The payments that changed in a window, for comparisons. Apart from the step before it, because whoever writes payments
-- waits while it is made: in a large database make it beforehand with CREATE INDEX CONCURRENTLY (docs/operations.md), and
-- this step finds it there.
SET LOCAL lock_timeout = '5s';
CREATE INDEX IF NOT EXISTS payments_changed ON payments (updated_at, id);
