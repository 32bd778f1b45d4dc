package api

import "time"

// DraftProject is the entry of NewSession.Draft for the project in whose directory a session starts.
const DraftProject = "project"

// Draft is a draft: the file changes of a session that were neither committed nor discarded.
type Draft struct {
	ID      string    `json:"id" doc:"id of this state of the changes, for expect of a commit; any change makes a new one"`
	Session string    `json:"session" doc:"id of the session; it names the draft also after the session was removed"`
	Command string    `json:"command,omitempty"`
	Started time.Time `json:"started,omitzero"`
	Root    string    `json:"root" doc:"directory of the draft, to which paths are relative; the first one of several"`
	Roots   []string  `json:"roots" doc:"all directories of the draft"`
	Limit   int64     `json:"size_limit_bytes,omitempty" doc:"limit of the disk space of its changes; absent: none, or its session was removed"`
	State   string    `json:"state" enum:"open,ended,committing" doc:"open: the session runs; committing: a commit is incomplete, and the next one completes it"`
	Changes []Change  `json:"changes"`
	NotHeld []string  `json:"not_held" doc:"effects of its programs that the draft does not hold"`
}

// Change is a path that differs in a draft.
type Change struct {
	Path       string  `json:"path" doc:"relative to the root; bytes that are not UTF-8 are replaced"`
	PathBytes  []byte  `json:"path_bytes,omitempty" doc:"the path in base64, if it is not UTF-8"`
	Root       string  `json:"root,omitempty" doc:"its draft directory, if it is not the first one"`
	Kind       string  `json:"kind" enum:"added,modified,deleted,replaced,meta,type" doc:"replaced: a directory that was removed and created again; meta: only mode, owner, times or attributes; type: another file type"`
	Type       string  `json:"type" enum:"file,dir,symlink,fifo,socket,device" doc:"type of the new or deleted file"`
	Size       int64   `json:"size" doc:"bytes"`
	Mode       string  `json:"mode" doc:"octal"`
	During     []int   `json:"during" doc:"numbers of the commands during which it changed, oldest first"`
	Conflict   *string `json:"conflict" doc:"why it cannot be committed; null: no conflict"`
	LinkBroken bool    `json:"link_broken" doc:"the file outside has further hard links, which keep the old content"`
}

// DraftSummary describes a draft in lists.
type DraftSummary struct {
	Session string    `json:"session" doc:"id, which names the draft"`
	Command string    `json:"command,omitempty"`
	Started time.Time `json:"started,omitzero"`
	Roots   []string  `json:"roots"`
	State   string    `json:"state" enum:"open,ended,committing"`
	Limit   int64     `json:"size_limit_bytes,omitempty" doc:"limit of the disk space of its changes; absent: none, or its session was removed"`
	Changes *int      `json:"changes,omitempty" doc:"number of changes at the last count; absent if not counted"`
}

// Commit is a request to apply a draft's changes.
type Commit struct {
	Paths      []string `json:"paths,omitempty" doc:"absolute, or relative to the draft's directory; a directory includes its contents; default: all"`
	Expect     string   `json:"expect,omitempty" maxLength:"128" doc:"id of the changes that the caller reviewed; after further changes the commit is an error"`
	DryRun     bool     `json:"dry_run,omitempty" doc:"check everything and write nothing"`
	AllowSetID bool     `json:"allow_setid,omitempty" doc:"commit files with setuid or setgid bits too"`
}

// Discard is a request to remove a draft's changes.
type Discard struct {
	Paths []string `json:"paths,omitempty" doc:"as of a commit; default: the whole draft"`
}

// Undo is a request to restore the files of a running session's draft.
type Undo struct {
	Command int `json:"command" minimum:"1" doc:"restore the files as before this command; later commands are undone too"`
}

// Undone lists the restored paths.
type Undone struct {
	Paths []string `json:"paths" doc:"relative to the draft's directory; bytes that are not UTF-8 are replaced"`
}

// DraftResult is the result of a commit or a discard, or, in a dry run, the result that it would have.
type DraftResult struct {
	ID      string   `json:"id" doc:"id of the changes before the commit"`
	Paths   []Change `json:"paths"`
	Files   int      `json:"files" doc:"written: added, modified, of another type or with other attributes"`
	Deleted int      `json:"deleted" doc:"removed paths; a directory counts once"`
	Bytes   int64    `json:"bytes" doc:"bytes of the written files"`
	DryRun  bool     `json:"dry_run,omitempty"`
	Resumed bool     `json:"resumed,omitempty" doc:"an interrupted commit was completed"`
	Empty   bool     `json:"empty" doc:"the draft has no further changes"`
}

// DraftDiff is the text of a draft's changes.
type DraftDiff struct {
	Text      string `json:"text" doc:"unified diff; binary and big files have one line"`
	Truncated bool   `json:"truncated,omitempty" doc:"text is incomplete; name fewer paths"`
}

// DraftReview describes the changes of an agent's command in a draft, for the user's decision to commit them.
type DraftReview struct {
	Session   string           `json:"session" doc:"id of the session in whose draft it ran, which names the draft"`
	ID        string           `json:"id" doc:"of the changes: the commit applies these and no others, and has this id"`
	Roots     []string         `json:"roots" doc:"directories of the draft"`
	State     string           `json:"state" enum:"pending,committed,discarded,failed" doc:"failed: allowed, but not committed; the draft stays open"`
	ExitCode  *int             `json:"exit_code" doc:"of the run; null: a signal ended it, or unknown"`
	Signal    string           `json:"signal,omitempty"`
	Output    string           `json:"output" doc:"the end of the output of the run"`
	Count     int              `json:"count" doc:"how many changes there are"`
	Written   int              `json:"written" doc:"files added or changed"`
	Deleted   int              `json:"deleted" doc:"files deleted, also in deleted directories"`
	Bytes     int64            `json:"bytes" doc:"of the files written and deleted"`
	AtLeast   bool             `json:"at_least,omitempty" doc:"the numbers are larger: not all files were counted"`
	Changes   []ReviewedChange `json:"changes" doc:"the largest first; not all if they are fewer than count"`
	Conflicts int              `json:"conflicts,omitempty" doc:"changes that cannot be committed"`
	Error     string           `json:"error,omitempty" doc:"why it was not committed"`
}

// ReviewedChange is a change with its extent.
type ReviewedChange struct {
	Change
	Files int    `json:"files" doc:"that it writes or deletes"`
	Bytes int64  `json:"bytes" doc:"of these files"`
	Git   string `json:"git,omitempty" enum:"tracked,untracked,ignored" doc:"what the path outside is to git; absent: unknown"`
}
