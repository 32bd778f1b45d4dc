package api

import "time"

// Fleet describes this machine's membership in a fleet.
type Fleet struct {
	On        bool              `json:"on" doc:"this machine is in a fleet"`
	Fleet     string            `json:"fleet,omitempty"`
	Host      string            `json:"host,omitempty" doc:"name of this machine in the fleet"`
	May       []string          `json:"may,omitempty" doc:"what this machine may do on the others: look, type, approve, manage"`
	Admin     bool              `json:"admin,omitempty" doc:"the fleet was created here: this machine issues join codes and revokes certificates"`
	Servers   []string          `json:"servers,omitempty"`
	Connected bool              `json:"connected"`
	Server    string            `json:"server,omitempty" doc:"the connected server"`
	Error     string            `json:"error,omitempty" doc:"why it is not connected, or not visible to other members"`
	Waiting   int               `json:"waiting,omitempty" doc:"changes not yet published to the registry"`
	Unsent    uint64            `json:"unsent,omitempty" doc:"completions not yet sent to the fleet"`
	Labels    map[string]string `json:"labels,omitempty"`
	Drained   bool              `json:"drained,omitempty" doc:"fleet run starts no commands here"`
	Expires   time.Time         `json:"expires,omitzero" doc:"expiry of its certificate"`

	CopyBehind uint64         `json:"copy_behind_bytes" doc:"bytes of this machine's sessions that are not copied yet"`
	CopyAge    int64          `json:"copy_behind_ms,omitempty" doc:"age of the oldest byte without a copy"`
	CopyError  string         `json:"copy_error,omitempty" doc:"why copying is suspended"`
	Former     int            `json:"former,omitempty" doc:"replicas of an earlier machine with this host's name"`
	Restored   *FleetRestored `json:"restored,omitempty" doc:"result of the act restore"`
}

// FleetAct changes this machine's membership.
type FleetAct struct {
	Act  string `json:"act" enum:"reload,drain,undrain,revoke,restore" doc:"reload: read the files of init, join and leave; drain: accept no more fleet runs; revoke: revoke a member's certificate; restore: bring the histories of a lost host here"`
	Name string `json:"name,omitempty" doc:"name of the member, for revoke and restore"`
}

// FleetRestored lists a host's sessions that are on this machine now.
type FleetRestored struct {
	Host     string            `json:"host"`
	Present  int               `json:"present,omitempty" doc:"sessions that existed already"`
	Sessions []RestoredSession `json:"sessions"`
}

// RestoredSession is a session that was restored from the fleet's copy, or why it was not.
type RestoredSession struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty" doc:"name here; differs if the original name is taken"`
	Bytes   uint64 `json:"bytes" doc:"bytes of output in the replica"`
	Missing uint64 `json:"missing_bytes,omitempty" doc:"output before the replica's end that it lacks; a gap replaces it"`
	Tail    uint64 `json:"tail_bytes,omitempty" doc:"output after the replica's end that its host reported; output of the last second may be unreported"`
	Damaged int    `json:"damaged,omitempty" doc:"skipped pieces: damaged, or not signed by the host"`
	Error   string `json:"error,omitempty" doc:"why it was not restored"`
}

// CopyHeader is the header of responses from a fleet's replica of a host: a FleetCopy in JSON.
const CopyHeader = "Longterm-Copy"

// FleetCopy marks a response from the fleet's replica of an unreachable host.
type FleetCopy struct {
	Host      string    `json:"host"`
	AsOf      time.Time `json:"as_of" doc:"time of the newest copied piece, by the clock of the fleet's server"`
	NotCopied uint64    `json:"not_copied_bytes" doc:"output that its host reported and the replica lacks; output of the last second may be unreported"`
	Damaged   int       `json:"damaged,omitempty" doc:"skipped pieces: damaged, or not signed by the host"`
	LeftOut   int       `json:"left_out,omitempty" doc:"sessions missing from this response: no room for their replicas here, or unreadable"`
}

// FleetHost is a fleet host's report about itself.
type FleetHost struct {
	Host     string            `json:"host"`
	State    string            `json:"state" enum:"connected,away" doc:"away: no report for 20 seconds"`
	IsLocal  bool              `json:"here,omitempty" doc:"this machine"`
	Seen     time.Time         `json:"seen,omitzero" doc:"time of its newest report, by the clock of the fleet's server"`
	Skew     int64             `json:"skew_ms,omitempty" doc:"how far its clock is ahead of the server's, if over ten seconds"`
	Build    string            `json:"build,omitempty"`
	System   string            `json:"system,omitempty" doc:"system and processor, as in linux/amd64"`
	Home     string            `json:"home,omitempty" doc:"home directory of the user whose daemon it is"`
	CPUs     int               `json:"cpus,omitempty"`
	Load     float64           `json:"load" doc:"load average of one minute"`
	Memory   uint64            `json:"memory_bytes,omitempty"`
	Free     uint64            `json:"free_bytes,omitempty" doc:"available memory"`
	Running  int               `json:"running" doc:"running sessions"`
	Sessions int               `json:"sessions"`
	Needs    int               `json:"needs_input" doc:"sessions that wait for a user's input"`
	Labels   map[string]string `json:"labels,omitempty"`
	Drained  bool              `json:"drained,omitempty"`
	Time     time.Time         `json:"time,omitzero" doc:"time of the report, by its own clock"`

	CopyBehind uint64 `json:"copy_behind_bytes,omitempty" doc:"bytes of its sessions without a replica when it sent the report"`
	CopyAge    int64  `json:"copy_behind_ms,omitempty" doc:"since when there were such"`
	NotCopied  bool   `json:"not_copied,omitempty" doc:"copying of its sessions is suspended"`
}

// FleetSession is a host's report about one of its sessions.
type FleetSession struct {
	Host        string            `json:"host"`
	Unreachable bool              `json:"away,omitempty" doc:"the host is unreachable: last known state; running sessions count as lost until it returns"`
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	State       string            `json:"state" enum:"running,exited,lost"`
	Needs       string            `json:"needs_input,omitempty" doc:"kind of the awaited input"`
	Approval    int               `json:"approvals,omitempty" doc:"number of its pending approvals"`
	Progress    int               `json:"progress,omitempty" doc:"percent"`
	Command     string            `json:"command" doc:"command line with secrets masked"`
	Cwd         string            `json:"cwd,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Agent       string            `json:"agent,omitempty"`
	ExitCode    *int              `json:"exit_code,omitempty"`
	Stopped     bool              `json:"stopped,omitempty" doc:"it was ended by request"`
	Since       time.Time         `json:"since,omitzero" doc:"time of its start, by its host's clock"`
}

// NeedsUser reports whether the session waits for a user. Prompts and programs that wait for any key do not count.
func (s *FleetSession) NeedsUser() bool {
	return s.Approval > 0 || s.Needs != "" && s.Needs != "prompt" && s.Needs != "screen"
}

// FleetRead requests events of the fleet that a reader has not acknowledged.
type FleetRead struct {
	Reader string `json:"reader" doc:"name of the reader; the fleet stores its acknowledgements. A new reader starts now"`
	Ack    uint64 `json:"ack,omitempty" doc:"acknowledge first, up to this cursor"`
	Limit  int    `json:"limit,omitempty" minimum:"0" maximum:"1000" doc:"maximum number; default 100"`
	WaitMS int    `json:"wait_ms,omitempty" minimum:"0" maximum:"50000" doc:"time to wait for the first one"`
}

// FleetEvent is a completion on one of the hosts.
type FleetEvent struct {
	Host string `json:"host"`
	Completion
	Cursor uint64 `json:"cursor" doc:"number of the event in the fleet"`
}

// FleetEvents are what a reader has not acknowledged.
type FleetEvents struct {
	Events []FleetEvent `json:"events"`
	Cursor uint64       `json:"cursor" doc:"acknowledge up to this cursor; unacknowledged ones are sent again"`
	Lost   uint64       `json:"lost,omitempty" doc:"events dropped before their acknowledgement: two weeks or 256 MiB are kept"`
}
