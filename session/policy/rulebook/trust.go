package rulebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// trustRecord records that the user trusts one content of a file. Each has a separate file, named by the path, so that
// concurrent writers lose nothing.
type trustRecord struct {
	Path string    `json:"path"`
	Hash string    `json:"sha256"`
	Time time.Time `json:"time"`
	By   string    `json:"by,omitempty"`
}

// Trusted is a file that the user trusts.
type Trusted struct {
	Path  string    `json:"path"`
	Hash  string    `json:"sha256"`
	Time  time.Time `json:"time"`
	By    string    `json:"by,omitempty"`
	State string    `json:"state"` // "trusted", "changed" since, "gone", "unreadable"
}

// Candidate is a project's file as it was read, for review and trust.
type Candidate struct {
	Path string
	Hash string
	Text string
	File *File
}

// ReadCandidate reads a project file to be trusted. An invalid one is an error.
func ReadCandidate(path string) (*Candidate, error) {
	path, err := projectPath(path)
	if err != nil {
		return nil, err
	}
	c, err := read(path)
	if err != nil {
		return nil, err
	}
	f, err := Decode(path, c.src, true)
	if err != nil {
		return nil, err
	}
	return &Candidate{Path: path, Hash: f.Hash, Text: string(c.src), File: f}, nil
}

// ReadOther reads another project file that may be trusted like a rule file; what is its kind.
func ReadOther(path, what string) (*Candidate, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	abs = filepath.Join(resolve(filepath.Dir(abs)), filepath.Base(abs))
	c, err := readAs(abs, what)
	if err != nil {
		return nil, err
	}
	return &Candidate{Path: abs, Hash: HashOf(c.src), Text: string(c.src)}, nil
}

// IsTrusted reports whether the user trusts a file with the content that was read.
func IsTrusted(dir string, c *Candidate) bool {
	r := readTrust(trustFile(dir, c.Path))
	return r != nil && r.Path == c.Path && r.Hash == c.Hash
}

// projectPath returns the name under which a project's file is found from below.
func projectPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if st, err := os.Stat(abs); err == nil && st.IsDir() {
		abs = filepath.Join(abs, projectPolicy)
	}
	if !strings.HasSuffix(abs, string(filepath.Separator)+projectPolicy) {
		return "", fmt.Errorf("%s is no project's file of rules: they are named %s", path, filepath.ToSlash(projectPolicy))
	}
	root := strings.TrimSuffix(abs, string(filepath.Separator)+projectPolicy)
	if root == "" {
		root = string(filepath.Separator)
	}
	return filepath.Join(resolve(root), projectPolicy), nil
}

// Trust records that the user trusts the content of a candidate.
func Trust(dir string, c *Candidate, by string, at time.Time) error {
	b, err := json.MarshalIndent(trustRecord{Path: c.Path, Hash: c.Hash, Time: at.Truncate(time.Second), By: by}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("record what is trusted: %w", err)
	}
	o := atomicfile.Options{Sync: atomicfile.ContentAndName, Shared: true}
	if err := atomicfile.Write(trustFile(dir, c.Path), o, append(b, '\n')); err != nil {
		return fmt.Errorf("record what is trusted: %w", err)
	}
	return nil
}

// Untrust removes the trust in a file, which may be missing. It reports whether the file was trusted.
func Untrust(dir, path string) (bool, error) {
	was := false
	paths := []string{path}
	if p, err := projectPath(path); err == nil {
		paths = append(paths, p)
	}
	for _, p := range paths {
		switch err := os.Remove(trustFile(dir, p)); {
		case err == nil:
			was = true
		case !errors.Is(err, fs.ErrNotExist):
			return was, fmt.Errorf("forget what is trusted: %w", err)
		}
	}
	return was, nil
}

// ListTrusted returns the files that the user trusts, and their state.
func ListTrusted(dir string) ([]Trusted, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what is trusted: %w", err)
	}
	all := []Trusted{}
	for _, e := range entries {
		r := readTrust(filepath.Join(dir, e.Name()))
		if r == nil {
			continue
		}
		t := Trusted{r.Path, r.Hash, r.Time, r.By, "trusted"}
		switch c, err := read(r.Path); {
		case errors.Is(err, fs.ErrNotExist):
			t.State = "gone"
		case err != nil:
			t.State = "unreadable"
		case HashOf(c.src) != r.Hash:
			t.State = "changed"
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Trusted) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// trustFile returns the path of the trust record of a file.
func trustFile(dir, path string) string { return filepath.Join(dir, HashOf([]byte(path))+".json") }

// readTrust reads a record; one that is damaged, or of another file, trusts nothing.
func readTrust(file string) *trustRecord {
	c, err := read(file)
	if err != nil {
		return nil
	}
	var r trustRecord
	if json.Unmarshal(c.src, &r) != nil || filepath.Base(file) != filepath.Base(trustFile("", r.Path)) {
		return nil
	}
	return &r
}

// trustOf returns the trust record of a file, or nil.
func (b *Book) trustOf(k *fileState) *trustRecord {
	if b.o.Trust == "" || k.file == nil {
		return nil
	}
	file := trustFile(b.o.Trust, k.path)
	st, err := os.Stat(file)
	if err != nil {
		k.trust, k.trustID = nil, identity{}
		return nil
	}
	if id := identityOf(st); k.trustID != id {
		k.trust, k.trustID = readTrust(file), id
	}
	return k.trust
}

// ProblemsOf returns the problems of an error.
func ProblemsOf(err error) []tomldoc.Problem { return tomldoc.ProblemsOf(err) }
