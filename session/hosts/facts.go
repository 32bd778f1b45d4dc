package hosts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Facts are stored by a link for clients, in run/hosts/KEY.json.
type Facts struct {
	Target      string    `json:"target"`
	Hello       Hello     `json:"hello"`
	Since       time.Time `json:"since" doc:"of the newest connection"`
	Connections int       `json:"connections" doc:"number so far, the newest included"`
}

// hostFile returns the path of a host's file.
func hostFile(dir string, t Target, ext string) string {
	return filepath.Join(dir, t.fileKey()+"."+ext)
}

// write stores the facts.
func (f Facts) write(dir string) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return atomicfile.Write(hostFile(dir, Target(f.Target), "json"), atomicfile.Options{}, b)
}

// ReadFacts returns the facts of a host; the error is fs.ErrNotExist before the first connection.
func ReadFacts(dir string, t Target) (f Facts, err error) {
	b, err := os.ReadFile(hostFile(dir, t, "json"))
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(b, &f)
}

// KnownHosts returns the facts of all hosts connected so far, by name.
func KnownHosts(dir string) (all []Facts) {
	entries, _ := os.ReadDir(dir) // none: no host
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		var f Facts
		if err != nil || json.Unmarshal(b, &f) != nil {
			continue
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Facts) int { return strings.Compare(a.Target, b.Target) })
	return all
}
