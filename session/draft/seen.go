package draft

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// version identifies a version of a file. The zero value is an absent file. The device is not part of it: its number can change
// with a reboot, and paths never leave the root's file system.
type version struct {
	Mode  uint32 `json:"m,omitempty"`
	Ino   uint64 `json:"i,omitempty"`
	Size  int64  `json:"s,omitempty"`
	Ctime int64  `json:"c,omitempty"`
}

// pathRecord is a path's record from scans.
type pathRecord struct {
	Root      int     `json:"r,omitempty"`
	Path      rawPath `json:"p"`
	Lower     version `json:"l"`           // the root's file when a scan first saw the path
	Ours      bool    `json:"o,omitempty"` // Lower was written by a commit of this draft
	Upper     version `json:"u"`           // the upper entry at the last Scan
	During    []int   `json:"d,omitempty"`
	IsRemoved bool    `json:"x,omitempty"` // in the file only: the path's record is removed
}

// pathKey identifies a path of a draft.
type pathKey struct {
	root int
	path string
}

// scanRecords holds the records of the file "seen". Records are appended; later ones replace earlier ones of the same path.
type scanRecords struct {
	paths   map[pathKey]*pathRecord
	dirty   map[pathKey]bool // to be appended
	lines   int              // in the file
	damaged bool             // the file must be rewritten before a record is appended
}

func newScanRecords() *scanRecords {
	return &scanRecords{paths: map[pathKey]*pathRecord{}, dirty: map[pathKey]bool{}}
}

// decodeScanRecords reads the file. Lines that a crash has damaged are skipped: their paths have no baseline, so only the rule of
// the start time holds for them.
func decodeScanRecords(r io.Reader) (*scanRecords, error) {
	s := newScanRecords()
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			s.damaged = s.damaged || len(line) > 0
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		s.lines++
		var p pathRecord
		if json.Unmarshal(line, &p) != nil || p.Root < 0 {
			s.damaged = true
			continue
		}
		key := pathKey{p.Root, string(p.Path)}
		if p.IsRemoved {
			delete(s.paths, key)
			continue
		}
		s.paths[key] = &p
	}
}

// get returns the record of a path, or nil.
func (s *scanRecords) get(root int, path string) *pathRecord { return s.paths[pathKey{root, path}] }

// getOrAdd returns the record of a path. It adds one with the given baseline if a scan sees the path first.
func (s *scanRecords) getOrAdd(root int, path string, lower version) *pathRecord {
	key := pathKey{root, path}
	p := s.paths[key]
	if p == nil {
		p = &pathRecord{Root: root, Path: rawPath(path), Lower: lower}
		s.paths[key] = p
		s.dirty[key] = true
	}
	return p
}

// touch marks the record to be written with the next save.
func (s *scanRecords) touch(p *pathRecord) { s.dirty[pathKey{p.Root, string(p.Path)}] = true }

// setOurs records the root's file as written by a commit.
func (s *scanRecords) setOurs(root int, path string, lower version) {
	p := s.getOrAdd(root, path, lower)
	p.Lower, p.Ours = lower, true
	s.touch(p)
}

// forget removes the record of a path that left the upper directory. Files that a commit wrote stay recorded.
func (s *scanRecords) forget(key pathKey) {
	if p := s.paths[key]; p != nil && p.Ours {
		if p.Upper != (version{}) {
			p.Upper = version{}
			s.dirty[key] = true
		}
		return
	}
	delete(s.paths, key)
	s.dirty[key] = true
}

// encode returns the lines to append, or, if all, the whole file.
func (s *scanRecords) encode(all bool) (b []byte, lines int, err error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if all {
		for _, p := range s.paths {
			if err := e.Encode(p); err != nil {
				return nil, 0, err
			}
		}
		return out.Bytes(), len(s.paths), nil
	}
	for key := range s.dirty {
		p := s.paths[key]
		if p == nil {
			p = &pathRecord{Root: key.root, Path: rawPath(key.path), IsRemoved: true}
		}
		if err := e.Encode(p); err != nil {
			return nil, 0, err
		}
	}
	return out.Bytes(), len(s.dirty), nil
}
