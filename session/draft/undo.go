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

// ErrNotUndoable is returned if the earlier versions of the files that a command changed are not stored: they exceed the
// limit, or were never saved.
var ErrNotUndoable = errors.New("draft: undo impossible")

// savedState is a path's state after a command, as the session saw it.
type savedState struct {
	Root      int               `json:"r,omitempty"`
	Path      rawPath           `json:"p"`
	Mode      uint32            `json:"m,omitempty"` // with the type; 0: no file
	UID       uint32            `json:"uid,omitempty"`
	GID       uint32            `json:"gid,omitempty"`
	Mtime     int64             `json:"t,omitempty"`
	Size      int64             `json:"s,omitempty"`
	Target    []byte            `json:"to,omitempty"` // of a symbolic link
	Attrs     map[string][]byte `json:"x,omitempty"`
	Opaque    bool              `json:"o,omitempty"`    // a directory that shows nothing of the root's
	Lower     bool              `json:"l,omitempty"`    // no entry: the root's file shows, if there is one
	File      int               `json:"f,omitempty"`    // number of the copy, from 1
	NotStored bool              `json:"lost,omitempty"` // the limit left no room for a copy
}

// encodeSaved returns the manifest of a command.
func encodeSaved(all []savedState) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, s := range all {
		if err := e.Encode(s); err != nil {
			return nil, err
		}
	}
	err := e.Encode(planEnd{len(all)})
	return out.Bytes(), err
}

// decodeSaved reads the manifest of a command.
func decodeSaved(r io.Reader) (all []savedState, err error) {
	b, err := io.ReadAll(bufio.NewReader(r))
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(b), "\n")
	if len(lines) < 2 || lines[len(lines)-1] != "" {
		return nil, errors.New("damaged (incomplete)")
	}
	lines = lines[:len(lines)-1]
	var end planEnd
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil || end.Steps != len(lines)-1 {
		return nil, errors.New("damaged (incomplete)")
	}
	for _, line := range lines[:len(lines)-1] {
		var s savedState
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return nil, fmt.Errorf("damaged (%w)", err)
		}
		if s.Path == "" || s.Root < 0 || s.File < 0 {
			return nil, errors.New("damaged (no path)")
		}
		all = append(all, s)
	}
	return all, nil
}
