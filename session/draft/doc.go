// Package draft keeps the file changes of a session apart from the files themselves until the user commits or discards them.
//
// A draft is a directory with one overlay for each of its roots. The sandbox mounts the overlay over the root in the session's
// own mount namespace; this package mounts nothing. It reads what the overlay's upper directory holds, lists it as changes,
// moves it into the root, or removes it:
//
//	DIR/draft.json      session, command, start, roots, state; replaced atomically
//	DIR/lock            flock: one process at a time scans, commits, discards
//	DIR/mounted         flock: held while the overlays are mounted
//	DIR/seen            what scans found: baselines of the roots' files, and the commands that changed a path
//	DIR/commit          plan of a commit that has started; the next Commit completes it
//	DIR/N/upper, work   directories of the overlay over root N
//	DIR/undo/N          versions of the files that command N changed
//
// # Reading the upper directory
//
// A character device 0:0 is a deletion. A directory with user.overlay.opaque=y replaces the root's directory, and so do the
// directories in it; directories that a program has renamed or made again have this mark. Other directories are merged.
// Anything else is added, or replaces the root's file. The kernel also
// copies files up that no program changed: entries equal to the root's are no changes.
//
// # Conflicts
//
// An overlay is no snapshot: processes outside the session can change the root too. The first scan that sees a path
// records device, inode, size and ctime of the root's file. A path conflicts if these differ later, or if the root's file
// has a ctime after the start of the draft. Files of an SQLite database (X, X-wal, X-shm, X-journal) conflict together.
// A commit with a conflict writes nothing. The plan of a commit has a hash and the newest ctime of each directory that the
// commit removes. The directory is compared again at a temporary name, and renamed back if it was changed.
//
// # Commit
//
// Commit is atomic for each file, not for the draft. The session must have ended: deletions in directories that only a mounted
// upper directory has leave no entry. Entries are renamed from the upper directory,
// so the upper directory is the journal: entries in it are not yet committed. If the root is on another
// file system, files are copied to a temporary name beside their target and renamed, and the entries are removed at the end.
// The mark of an opaque directory is removed before its children move. Otherwise a resumed commit would take the moved
// children for files to delete. Paths are opened beneath the root without following symbolic links.
package draft
