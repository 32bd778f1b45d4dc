// Package integrations adds longterm to the configuration of agent programs: the MCP server, hooks that report the
// agent's state, and a skill file. It only plans: files in, files out; its caller decides on writing.
//
//	For(name) → Program → Plan(Place, undo) → Changes → Apply
//
// A program is a row of the table in programs.go: its files, and the entries of each. JSON and TOML are edited as text,
// so that comments, order and indentation stay. An unreadable file is rejected unchanged.
package integrations

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/suggestname"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Place describes the user whose program is configured.
type Place struct {
	Home    string
	Getenv  func(string) string
	OS      string // as runtime.GOOS has it
	Command string // how longterm is called: its name where that is found, else its path
	Skill   string // the skill file's text below its header
}

// Program is an agent's program.
type Program struct {
	Name, Title string
	Note        string // what a user has to do besides, or has to know
	files       func(Place) []file
}

// file is a file of a program's configuration, and what belongs into it.
type file struct {
	path string
	edit editor
}

// editor makes a file's new content of its old one. A file that is not to be there is nil, before and after.
type editor interface {
	install(p Place, old []byte) (now []byte, kept []string, err error)
	// remove removes what install added, but nothing that a user wrote or changed.
	remove(p Place, old []byte) (now []byte, kept []string, err error)
}

// Change is a file before and after.
type Change struct {
	Path     string // what is written: the target of a link
	Old, New []byte // nil: the file is not there
	Kept     []string
	mode     fs.FileMode
}

// HasChanged reports whether the file must be written.
func (c *Change) HasChanged() bool {
	return (c.Old == nil) != (c.New == nil) || !bytes.Equal(c.Old, c.New)
}

// For returns the program of a name.
func For(name string) (*Program, error) {
	i := slices.IndexFunc(programs, func(p Program) bool { return p.Name == name })
	if i >= 0 {
		return &programs[i], nil
	}
	if near := suggestname.Nearest(name, Names()); near != "" {
		return nil, fmt.Errorf("unknown integration %q; did you mean %s (known: %s)?", name, near, strings.Join(Names(), ", "))
	}
	return nil, fmt.Errorf("unknown integration %q (known: %s)", name, strings.Join(Names(), ", "))
}

// Names returns the known programs.
func Names() (names []string) {
	for i := range programs {
		names = append(names, programs[i].Name)
	}
	return names
}

// maxFile bounds what is read: Claude Code keeps its history in the file of its servers.
const maxFile = 64 << 20

// Plan returns the changes of all files, unchanged ones included.
func (p *Program) Plan(at Place, undo bool) (all []Change, err error) {
	for _, f := range p.files(at) {
		c, err := read(f.path)
		if err != nil {
			return nil, err
		}
		if undo {
			if c.Old != nil {
				c.New, c.Kept, err = f.edit.remove(at, c.Old)
			}
		} else {
			c.New, c.Kept, err = f.edit.install(at, c.Old)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w (nothing was changed)", f.path, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// read reads a file, following links.
func read(path string) (Change, error) {
	c := Change{Path: path, mode: 0o600}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		c.Path = target
	} else if _, linked := os.Readlink(path); linked == nil {
		return c, fmt.Errorf("%s is a dangling link; fix or remove it", path)
	}
	info, err := os.Stat(c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, err
	case !info.Mode().IsRegular():
		return c, fmt.Errorf("%s is no file", path)
	case info.Size() > maxFile:
		return c, fmt.Errorf("%s has %d bytes, more than %d; nothing was changed", path, info.Size(), maxFile)
	}
	c.mode = info.Mode().Perm()
	c.Old, err = os.ReadFile(c.Path)
	if c.Old == nil {
		c.Old = []byte{}
	}
	return c, err
}

// Backup returns the path of the backup before the newest change.
func (c *Change) Backup() string { return c.Path + ".longterm-backup" }

// madeFor are the folders that are made for a skill, by their names.
var madeFor = []string{"skills", ".agents"}

// Apply writes a change after a backup. It fails if the file was modified since.
func (c *Change) Apply() error {
	if !c.HasChanged() {
		return nil
	}
	now, err := read(c.Path)
	if err != nil {
		return err
	}
	if (now.Old == nil) != (c.Old == nil) || !bytes.Equal(now.Old, c.Old) {
		return fmt.Errorf("%s changed meanwhile and was not written; retry", c.Path)
	}
	before, backupErr := os.ReadFile(c.Backup())
	o := atomicfile.Options{Sync: atomicfile.Content, Mode: c.mode, Shared: true}
	if c.Old != nil {
		if err := atomicfile.Write(c.Backup(), o, c.Old); err != nil {
			return fmt.Errorf("the file is not changed without a copy of it: %w", err)
		}
	}
	if c.New == nil {
		err = errors.Join(os.Remove(c.Path), os.Remove(c.Backup()))
		// The skill's own folder, and those that were made for it, when nothing else is in them.
		for dir := filepath.Dir(c.Path); os.Remove(dir) == nil && slices.Contains(madeFor, filepath.Base(filepath.Dir(dir))); dir = filepath.Dir(dir) {
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	if err := atomicfile.Write(c.Path, o, c.New); err != nil {
		return err
	}
	if backupErr == nil && bytes.Equal(before, c.New) { // it is as it was: no copy is needed
		return os.Remove(c.Backup())
	}
	return nil
}
