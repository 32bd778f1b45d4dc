package confine

import (
	"encoding/json"
	"net"
	"net/netip"
)

// ServeNetwork serves connections that are made inside, from outside, and returns when l is closed. It is set before Enter. The
// address of l is the one inside.
var ServeNetwork func(l net.Listener, config json.RawMessage)

// Sandbox isolates a program from the rest of the system. Paths are absolute and without links; one that has become a
// link is an error.
type Sandbox struct {
	Namespaces *Namespaces `json:"namespaces,omitempty"`
	Landlock   *Landlock   `json:"landlock,omitempty"`
	// DropCapabilities removes the capabilities that undo a sandbox from a program that runs as root.
	DropCapabilities bool `json:"powerless,omitempty"`
	// Probe exits with 0 instead of executing the program.
	Probe bool `json:"probe,omitempty"`
	// ProbeDraftDir is an empty directory in which a probe of drafts mounts an overlay.
	ProbeDraftDir string `json:"try_draft,omitempty"`

	Stage stage `json:"stage,omitempty"`
}

// stage is the role of a process in creating the namespaces.
type stage int

const (
	stageOutside stage = iota // started by the keeper: represents the program, and serves its network
	stageFirst                // the first process of the namespaces: mounts, starts the program and reaps
	stageInside               // executes the program
)

// Namespaces are a separate view of the system.
type Namespaces struct {
	Network bool `json:"network,omitempty"` // with loopback only
	// HostRoot starts with all host files, read-only; otherwise with none.
	HostRoot bool    `json:"whole,omitempty"`
	Mounts   []Mount `json:"mounts"` // inner mounts after outer ones
	// Locks are files that stay locked (flock) while a process of the namespaces lives, so that no overlay is mounted
	// twice. If one is locked already, the program does not start.
	Locks []string `json:"locks,omitempty"`
	// DraftSize is the most space, in bytes, that changed files of the drafts may take on disk, and the largest size of each written file.
	// Beyond it all programs of the namespaces are ended. 0: no limit.
	DraftSize int64  `json:"draft_size,omitempty"`
	Dir       string `json:"dir"` // working directory
	// Serve is passed to ServeNetwork for connections to Port on loopback, and to the loopback addresses in Local;
	// empty: none.
	Serve json.RawMessage  `json:"serve,omitempty"`
	Port  int              `json:"port,omitempty"`
	Local []netip.AddrPort `json:"local,omitempty"`
}

// Mount is a mount at a path.
type Mount struct {
	Kind MountKind `json:"kind"`
	Path string    `json:"path"`
	// Upper and Work are the directories of MountDraft: the changed files, and the files that the kernel prepares. Both
	// are on one file system and never in two mounts at once.
	Upper string `json:"upper,omitempty"`
	Work  string `json:"work,omitempty"`
	// Optional skips a mount whose path was removed in an enclosing draft, and a MountDraft that the kernel rejects.
	Optional bool `json:"optional,omitempty"`
}

// MountKind is the kind of a mount.
type MountKind string

// Kinds of mounts.
const (
	MountRead  MountKind = "read"  // the host's files, read-only
	MountWrite MountKind = "write" // the host's files, writable
	MountDraft MountKind = "draft" // the host's files, with changes kept in Upper
	MountHide  MountKind = "hide"  // empty, read-only
	MountTmp   MountKind = "tmp"   // a writable file system in memory
)

// Landlock lists the paths that are accessible. Excluded paths are inside of them.
type Landlock struct {
	Read            []string `json:"read,omitempty"`
	Write           []string `json:"write,omitempty"`
	Excluded        []string `json:"except,omitempty"` // inaccessible
	ReadOnly        []string `json:"keep,omitempty"`   // not writable
	ReadInExcluded  []string `json:"needed,omitempty"` // read, although in Excluded
	WriteInExcluded []string `json:"kept,omitempty"`   // written, although in Excluded
	Scoped          bool     `json:"scoped,omitempty"` // signals and abstract sockets are limited to the sandbox
}
