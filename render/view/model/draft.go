package model

// Draft holds the file changes of a session that were neither committed nor discarded.
type Draft struct {
	ID      string   // of these changes: a commit applies no others
	Roots   []string // directories
	Changes []DraftChange
}

// DraftResult is what a commit or a discard did.
type DraftResult struct {
	Changes int  // applied or removed
	Empty   bool // the draft has no further changes
}

// DraftChange is a changed path of a draft.
type DraftChange struct {
	Path     string // absolute
	Name     string // as users read it
	Kind     string // added, modified, deleted, replaced, meta, type
	Size     string // of the new or deleted file, such as 1.8 kB; "": not a regular file
	Conflict string // why it cannot be committed; "": it can
	Note     string // further facts
}
