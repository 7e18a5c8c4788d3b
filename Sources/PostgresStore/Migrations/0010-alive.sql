-- When the site said last that it acts although nobody follows: an old copy of this database is told by it. A store of
-- before is taken for one that acts now, so that an upgrade stops nobody.
ALTER TABLE site_state ADD COLUMN alive_at bigint;
UPDATE site_state SET alive_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint WHERE epoch > 0;
