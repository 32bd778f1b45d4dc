package draft

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// plan is a commit that has started. Its file lists the changes and the versions of both sides, so that the next commit can
// distinguish what this one wrote from what other processes wrote.
type plan struct {
	Token string `json:"token"` // in the names of temporary files
	// Copy lists inodes of files with hard links that are not all selected. A rename would leave the draft a link to the
	// root's file.
	Copy []linkKeyJSON `json:"copy,omitempty"`
	// Linked lists files of the root with several names, if the commit removes or replaces one of the names. That changes
	// the ctime of the file, so the others are compared without it.
	Linked []linkedFile `json:"linked,omitempty"`
	// Modes lists directories, parents first, to which the owner has no full rights. The commit adds these rights until
	// its end.
	Modes []dirModes           `json:"modes,omitempty"`
	steps map[pathKey]planStep // changes, by path
}

// linkKeyJSON is a file with several names.
type linkKeyJSON struct {
	Root int    `json:"r"`
	Ino  uint64 `json:"i"`
}

// linkedFile is the version of a file with several names.
type linkedFile struct {
	Root  int    `json:"r"`
	Ino   uint64 `json:"i"`
	Mode  uint32 `json:"m"`
	Size  int64  `json:"s"`
	Mtime int64  `json:"t"`
}

// dirModes has the modes of a directory on both sides; Lower is zero without one.
type dirModes struct {
	Root  int     `json:"r"`
	Path  rawPath `json:"p"`
	Upper uint32  `json:"u"`
	Lower uint32  `json:"l"`
}

// planStep is a change of a plan.
type planStep struct {
	Root  int     `json:"r,omitempty"`
	Path  rawPath `json:"p"`
	Kind  Kind    `json:"k"`
	Upper version `json:"u"` // with the mtime in place of the ctime: preparing an entry changes its ctime
	Lower version `json:"l"`
	// Tree is the state of the root's directory that the change removes with all in it.
	Tree *treeState `json:"t,omitempty"`
}

// treeState identifies the files and directories of a tree in bounded space. The times of directories are not part of it.
type treeState struct {
	Hash   uint64 `json:"h"` // sum over the entries, so their order does not matter
	Newest int64  `json:"c"` // newest ctime of its files
}

// planEnd is the last line of a plan's file; a file without it is incomplete.
type planEnd struct {
	Steps int `json:"end"`
}

// encode returns the content of the plan's file, with its steps in no particular order.
func (p *plan) encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	for _, s := range p.steps {
		if err := e.Encode(s); err != nil {
			return nil, err
		}
	}
	err := e.Encode(planEnd{len(p.steps)})
	return out.Bytes(), err
}

// decodePlan reads a plan's file. An incomplete file is an error: the file is written before the first change.
func decodePlan(r io.Reader) (*plan, error) {
	in := bufio.NewReader(r)
	var lines [][]byte
	for {
		line, err := in.ReadBytes('\n')
		if err == nil {
			lines = append(lines, line)
			continue
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		break
	}
	if len(lines) < 2 {
		return nil, errors.New("damaged (incomplete)")
	}
	p := &plan{steps: map[pathKey]planStep{}}
	if err := json.Unmarshal(lines[0], p); err != nil {
		return nil, fmt.Errorf("damaged (%w)", err)
	}
	if p.Token == "" || strings.ContainsAny(p.Token, "/\x00") {
		return nil, errors.New("damaged (no token)")
	}
	var end planEnd
	if err := json.Unmarshal(lines[len(lines)-1], &end); err != nil || end.Steps != len(lines)-2 {
		return nil, errors.New("damaged (incomplete)")
	}
	for _, line := range lines[1 : len(lines)-1] {
		var s planStep
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("damaged (%w)", err)
		}
		p.steps[pathKey{s.Root, string(s.Path)}] = s
	}
	return p, nil
}
