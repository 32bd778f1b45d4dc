package confine

import (
	"encoding/json"
	"net"
	"net/netip"
)

// ServeNetwork answers connections that are made inside, from outside; it is set before Enter. It returns when l is closed.
// The address of l is the one inside that they are made to.
var ServeNetwork func(l net.Listener, config json.RawMessage)

// Sandbox isolates a program from the rest of the system. Paths are absolute and without links; one that has become a
// link is an error.
type Sandbox struct {
	Namespaces *Namespaces `json:"namespaces,omitempty"`
	Landlock   *Landlock   `json:"landlock,omitempty"`
	// Powerless takes the capabilities that undo a sandbox from a program that runs as root.
	Powerless bool `json:"powerless,omitempty"`
	// Probe ends with 0 where the program would be executed.
	Probe bool `json:"probe,omitempty"`
	// TryDraft is an empty directory in which a probe of drafts mounts an overlay.
	TryDraft string `json:"try_draft,omitempty"`

	Stage stage `json:"stage,omitempty"`
}

// stage is which of the processes this one is.
type stage int

const (
	outside stage = iota // started by the keeper: represents the program, and serves its network
	first                // the first process of the namespaces: mounts, starts the program and reaps
	inside               // becomes the program
)

// Namespaces are a separate view of the system.
type Namespaces struct {
	Network bool `json:"network,omitempty"` // with loopback only
	// Whole starts with all host files, read-only; otherwise with none.
	Whole  bool    `json:"whole,omitempty"`
	Mounts []Mount `json:"mounts"` // what is inside of another comes after it
	// Locks are files that stay locked (flock) while a process of the namespaces lives, so that no overlay is mounted
	// twice. If one is locked already, the program does not start.
	Locks []string `json:"locks,omitempty"`
	Dir   string   `json:"dir"` // working directory
	// Serve is passed to ServeNetwork for connections to Port on loopback, and to the loopback addresses in Local;
	// empty: none.
	Serve json.RawMessage  `json:"serve,omitempty"`
	Port  int              `json:"port,omitempty"`
	Local []netip.AddrPort `json:"local,omitempty"`
}

// Mount puts something at a path.
type Mount struct {
	Kind MountKind `json:"kind"`
	Path string    `json:"path"`
	// Upper and Work are the directories of MountDraft: the changed files, and the files that the kernel prepares. Both
	// are on one file system and never in two mounts at once.
	Upper string `json:"upper,omitempty"`
	Work  string `json:"work,omitempty"`
	// Optional skips a mount whose path a draft around it has removed.
	Optional bool `json:"optional,omitempty"`
}

// MountKind is what is put there.
type MountKind string

// Kinds of mounts.
const (
	MountRead  MountKind = "read"  // the host's, to be read
	MountWrite MountKind = "write" // the host's, to be written
	MountDraft MountKind = "draft" // the host's, with changes kept apart in Upper
	MountHide  MountKind = "hide"  // nothing, read-only
	MountTmp   MountKind = "tmp"   // a file system in memory, writable for all
)

// Landlock are paths that may be reached, and nothing else. What is excepted is inside of them.
type Landlock struct {
	Read   []string `json:"read,omitempty"`
	Write  []string `json:"write,omitempty"`
	Except []string `json:"except,omitempty"` // neither
	Keep   []string `json:"keep,omitempty"`   // not written
	Needed []string `json:"needed,omitempty"` // read, though inside of Except
	Kept   []string `json:"kept,omitempty"`   // written, though inside of Except
	Scoped bool     `json:"scoped,omitempty"` // signals and abstract sockets stay inside
}
