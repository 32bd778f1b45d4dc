package draft

import (
	"encoding/json"
	"unicode/utf8"
)

// Kind is how a path differs from the root's.
type Kind string

const (
	Added    Kind = "added"
	Modified Kind = "modified"
	Deleted  Kind = "deleted"
	Replaced Kind = "replaced" // a directory: removed and made again
	Meta     Kind = "meta"     // mode, owner, times, attributes or hard links; the content is equal
	Type     Kind = "type"     // another type: a directory became a file, a file a symbolic link
)

// State is what a draft is doing.
type State string

const (
	StateOpen       State = "open"       // its session may still write
	StateEnded      State = "ended"      // its session has ended
	StateCommitting State = "committing" // a commit has started and is not complete
)

// Change is a path that a commit would write.
type Change struct {
	// Path is relative to the root, and has the bytes of the file's name. In JSON, bytes that are not UTF-8 become U+FFFD, and
	// path_bytes has them in base64.
	Path string `json:"path"`
	// Root is the root's path if it is not Changes.Root.
	Root string `json:"root,omitempty"`
	Kind Kind   `json:"kind"`
	// Type is the type of the new file, or of the deleted one: file, dir, symlink, fifo, socket, device.
	Type string `json:"type"`
	Size int64  `json:"size"`
	Mode string `json:"mode"` // octal, with setuid, setgid and sticky bits: "0644"
	// During lists the commands in which the path changed. Attribution is by time: a background job is charged to the command
	// that runs at the time.
	During []int `json:"during"`
	// Conflict is the reason why the path cannot be committed, or nil.
	Conflict *string `json:"conflict"`
	// LinkBroken reports that the root's file has other hard links, which keep the old content.
	LinkBroken bool `json:"link_broken"`
}

// Changes holds a draft's changes.
type Changes struct {
	// ID is a digest of the entries and of the files on both sides: it changes if any of them changes.
	ID      string   `json:"id"`
	Root    string   `json:"root"`
	Roots   []string `json:"roots,omitempty"` // if there are several
	State   State    `json:"state"`
	Changes []Change `json:"changes"`
}

// Conflicts returns the changes that cannot be committed.
func (c Changes) Conflicts() (in []Change) {
	for _, ch := range c.Changes {
		if ch.Conflict != nil {
			in = append(in, ch)
		}
	}
	return in
}

// MarshalJSON adds path_bytes to a path that is not UTF-8.
func (c Change) MarshalJSON() ([]byte, error) {
	type plain Change
	p := struct {
		plain
		PathBytes []byte `json:"path_bytes,omitempty"`
	}{plain: plain(c)}
	if p.During == nil {
		p.During = []int{}
	}
	if !utf8.ValidString(c.Path) {
		p.PathBytes = []byte(c.Path)
	}
	return json.Marshal(p)
}

// UnmarshalJSON prefers path_bytes to path.
func (c *Change) UnmarshalJSON(b []byte) error {
	type plain Change
	p := struct {
		*plain
		PathBytes []byte `json:"path_bytes"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	if len(p.PathBytes) > 0 {
		c.Path = string(p.PathBytes)
	}
	return nil
}
