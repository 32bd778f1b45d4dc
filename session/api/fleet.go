package api

import "time"

// Fleet is this machine's part in a fleet.
type Fleet struct {
	On        bool              `json:"on" doc:"this machine belongs to a fleet"`
	Fleet     string            `json:"fleet,omitempty"`
	Host      string            `json:"host,omitempty" doc:"this machine's name in it"`
	May       []string          `json:"may,omitempty" doc:"what this machine may do on the others: look, type, approve, manage"`
	Admin     bool              `json:"admin,omitempty" doc:"the fleet was made here: join codes are made and certificates taken back here"`
	Servers   []string          `json:"servers,omitempty"`
	Connected bool              `json:"connected"`
	Server    string            `json:"server,omitempty" doc:"the one it is connected to"`
	Error     string            `json:"error,omitempty" doc:"why it is not connected, or not seen by the others"`
	Waiting   int               `json:"waiting,omitempty" doc:"changes that the registry was not told yet"`
	Unsent    uint64            `json:"unsent,omitempty" doc:"completions that the fleet was not told yet"`
	Labels    map[string]string `json:"labels,omitempty"`
	Drained   bool              `json:"drained,omitempty" doc:"fleet run starts nothing here"`
	Expires   time.Time         `json:"expires,omitzero" doc:"when its certificate does"`

	CopyBehind uint64         `json:"copy_behind_bytes" doc:"bytes of this machine's sessions that the fleet has no copy of yet"`
	CopyAge    int64          `json:"copy_behind_ms,omitempty" doc:"since when there are such"`
	CopyError  string         `json:"copy_error,omitempty" doc:"why nothing is copied now"`
	Former     int            `json:"former,omitempty" doc:"sessions of a machine that had this host's name before, of which the fleet had copies when this one began to copy"`
	Restored   *FleetRestored `json:"restored,omitempty" doc:"answer to the act restore"`
}

// FleetAct changes this machine's part in the fleet.
type FleetAct struct {
	Act  string `json:"act" enum:"reload,drain,undrain,revoke,restore" doc:"reload: read what init, join and leave wrote; drain: take no more by fleet run; revoke: take a member's certificate back; restore: have the histories of a host that is gone here"`
	Name string `json:"name,omitempty" doc:"of the member, for revoke and restore"`
}

// FleetRestored is what of a host's sessions is on this machine now.
type FleetRestored struct {
	Host     string            `json:"host"`
	Present  int               `json:"present,omitempty" doc:"sessions that were here already"`
	Sessions []RestoredSession `json:"sessions"`
}

// RestoredSession is a session that was restored from the fleet's copy, or why it was not.
type RestoredSession struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty" doc:"here; another than there where that is taken"`
	Bytes   uint64 `json:"bytes" doc:"output in the copy"`
	Missing uint64 `json:"missing_bytes,omitempty" doc:"output before the copy's end that it does not have; a gap stands in its place"`
	Tail    uint64 `json:"tail_bytes,omitempty" doc:"output after the copy's end that its host told of; of what was printed in its last second nothing may be known"`
	Damaged int    `json:"damaged,omitempty" doc:"pieces that were passed over, as they are damaged or not signed by the host"`
	Error   string `json:"error,omitempty" doc:"why it was not restored"`
}

// CopyHeader is the header of answers that are from a fleet's copy of a host: a FleetCopy in JSON.
const CopyHeader = "Longterm-Copy"

// FleetCopy says of an answer that it is from the fleet's copy of a host that cannot be reached.
type FleetCopy struct {
	Host      string    `json:"host"`
	AsOf      time.Time `json:"as_of" doc:"when the newest piece of it was copied, by the clock of the fleet's server"`
	NotCopied uint64    `json:"not_copied_bytes" doc:"output that its host told of and the copy does not have; of what was printed in its last second nothing may be known besides"`
	Damaged   int       `json:"damaged,omitempty" doc:"pieces that were passed over, as they are damaged or not signed by the host"`
	Left      int       `json:"left_out,omitempty" doc:"sessions that are not in this answer, as there is no room for their copies here or they cannot be read"`
}

// FleetHost is what a host of a fleet says of itself.
type FleetHost struct {
	Host     string            `json:"host"`
	State    string            `json:"state" enum:"connected,away" doc:"away: nothing was heard of it for 20 seconds"`
	Here     bool              `json:"here,omitempty" doc:"it is this machine"`
	Seen     time.Time         `json:"seen,omitzero" doc:"when it was last heard of, by the clock of the fleet's server"`
	Skew     int64             `json:"skew_ms,omitempty" doc:"how far its clock is ahead of the server's, where that is more than ten seconds"`
	Build    string            `json:"build,omitempty"`
	System   string            `json:"system,omitempty" doc:"system and processor, as in linux/amd64"`
	Home     string            `json:"home,omitempty" doc:"home directory of the user whose daemon it is"`
	CPUs     int               `json:"cpus,omitempty"`
	Load     float64           `json:"load" doc:"processes that want a processor, over a minute"`
	Memory   uint64            `json:"memory_bytes,omitempty"`
	Free     uint64            `json:"free_bytes,omitempty" doc:"memory that programs could have"`
	Running  int               `json:"running" doc:"sessions that run"`
	Sessions int               `json:"sessions"`
	Needs    int               `json:"needs_input" doc:"sessions whose program waits for a person"`
	Labels   map[string]string `json:"labels,omitempty"`
	Drained  bool              `json:"drained,omitempty"`
	Time     time.Time         `json:"time,omitzero" doc:"by its own clock, when it said so"`

	CopyBehind uint64 `json:"copy_behind_bytes,omitempty" doc:"bytes of its sessions that the fleet had no copy of when it said so"`
	CopyAge    int64  `json:"copy_behind_ms,omitempty" doc:"since when there were such"`
	NotCopied  bool   `json:"not_copied,omitempty" doc:"its sessions are not copied now"`
}

// FleetSession is what a host says of one of its sessions.
type FleetSession struct {
	Host     string            `json:"host"`
	Away     bool              `json:"away,omitempty" doc:"the host is: this is what was last known, and what ran counts as lost until the host is heard of again"`
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	State    string            `json:"state" enum:"running,exited,lost"`
	Needs    string            `json:"needs_input,omitempty" doc:"kind of input that its program waits for"`
	Approval int               `json:"approvals,omitempty" doc:"how many of its commands wait for a person's approval"`
	Progress int               `json:"progress,omitempty" doc:"percent"`
	Command  string            `json:"command" doc:"with secrets masked"`
	Cwd      string            `json:"cwd,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Agent    string            `json:"agent,omitempty"`
	ExitCode *int              `json:"exit_code,omitempty"`
	Stopped  bool              `json:"stopped,omitempty" doc:"it was ended by request"`
	Since    time.Time         `json:"since,omitzero" doc:"when it was started, by its host's clock"`
}

// Asks says that it waits for a person: a prompt, and a program that waits for any key, wait for nobody.
func (s *FleetSession) Asks() bool {
	return s.Approval > 0 || s.Needs != "" && s.Needs != "prompt" && s.Needs != "screen"
}

// FleetRead asks for what happened in the fleet and a reader has not acknowledged.
type FleetRead struct {
	Reader string `json:"reader" doc:"name of who reads; what it has acknowledged is kept in the fleet. A new one begins now"`
	Ack    uint64 `json:"ack,omitempty" doc:"acknowledge first, up to this cursor"`
	Limit  int    `json:"limit,omitempty" minimum:"0" maximum:"1000" doc:"at most so many; default 100"`
	WaitMS int    `json:"wait_ms,omitempty" minimum:"0" maximum:"50000" doc:"where there is none, wait so long for one"`
}

// FleetEvent is a completion on one of the hosts.
type FleetEvent struct {
	Host string `json:"host"`
	Completion
	Cursor uint64 `json:"cursor" doc:"its number in the fleet"`
}

// FleetEvents are what a reader has not acknowledged.
type FleetEvents struct {
	Events []FleetEvent `json:"events"`
	Cursor uint64       `json:"cursor" doc:"acknowledge up to here; until then they come again"`
	Lost   uint64       `json:"lost,omitempty" doc:"so many were dropped before they were acknowledged: two weeks or 256 MiB are kept"`
}
