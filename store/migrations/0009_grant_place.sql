-- Where a grant holds, and a digest of the commands that were shown.
ALTER TABLE grants ADD COLUMN dir TEXT NOT NULL DEFAULT '';
ALTER TABLE grants ADD COLUMN commands TEXT NOT NULL DEFAULT '';
