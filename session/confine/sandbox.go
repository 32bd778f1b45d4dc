package confine

import (
	"encoding/json"
	"net"
	"net/netip"
)

// ServeNetwork answers connections that are made inside, from outside; it is set before Enter. It returns when l is closed.
// The address of l is the one inside that they are made to.
var ServeNetwork func(l net.Listener, config json.RawMessage)

// Sandbox is what keeps a program from the rest of the system. Paths are absolute and without links; one that has
// become a link meanwhile is an error.
type Sandbox struct {
	Namespaces *Namespaces `json:"namespaces,omitempty"`
	Landlock   *Landlock   `json:"landlock,omitempty"`
	// Powerless takes the capabilities that undo a sandbox from a program that runs as root.
	Powerless bool `json:"powerless,omitempty"`
	// Probe ends with 0 where the program would be executed.
	Probe bool `json:"probe,omitempty"`

	Stage stage `json:"stage,omitempty"`
}

// stage is which of the processes this one is.
type stage int

const (
	outside stage = iota // started by the keeper: stands in for the program, and serves its network
	first                // the first process of the namespaces: mounts, starts the program and reaps
	inside               // becomes the program
)

// Namespaces are a view of the system of its own.
type Namespaces struct {
	Network bool `json:"network,omitempty"` // with loopback only
	// Whole begins with all of the host's files, to be read; otherwise with none.
	Whole  bool    `json:"whole,omitempty"`
	Mounts []Mount `json:"mounts"` // what is inside of another comes after it
	Dir    string  `json:"dir"`    // working directory
	// Serve is handed to ServeNetwork for connections that are made to Port of loopback, and to the addresses of it in Local;
	// empty: there are none.
	Serve json.RawMessage  `json:"serve,omitempty"`
	Port  int              `json:"port,omitempty"`
	Local []netip.AddrPort `json:"local,omitempty"`
}

// Mount puts something at a path.
type Mount struct {
	Kind MountKind `json:"kind"`
	Path string    `json:"path"`
}

// MountKind is what is put there.
type MountKind string

// Kinds of mounts.
const (
	MountRead  MountKind = "read"  // the host's, to be read
	MountWrite MountKind = "write" // the host's, to be written
	MountHide  MountKind = "hide"  // nothing, read-only
	MountTmp   MountKind = "tmp"   // a file system in memory, everybody's
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
