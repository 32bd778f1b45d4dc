package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

const (
	// ManifestName is the file's name in a session's directory.
	ManifestName = "session.json"
	// manifestVersion is increased when older programs would misread the file.
	manifestVersion = 1
	// maxManifest limits the bytes read of a manifest.
	maxManifest = 16 << 20
)

// ErrManifest is returned for a file that is not a manifest.
var ErrManifest = errors.New("not a session's manifest")

type manifest struct {
	Version int `json:"version"`
	Session
}

// WriteManifest replaces the manifest in a session's directory. After a crash or a loss of power the file has the old
// or the new content.
func WriteManifest(dir string, r Session) error {
	b, err := json.MarshalIndent(manifest{manifestVersion, r}, "", "  ")
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	path := filepath.Join(dir, ManifestName)
	// The name is not synced: a sync of the directory doubles the cost and would only keep the old
	// content away.
	if err := atomicfile.Write(path, atomicfile.Options{Sync: atomicfile.Content}, b, []byte{'\n'}); err != nil {
		return Explain("write manifest", path, err)
	}
	return nil
}

// ReadManifest reads the manifest in a session's directory. Errors are os.ErrNotExist, ErrManifest and ErrNewer.
func ReadManifest(dir string) (Session, error) {
	path := filepath.Join(dir, ManifestName)
	st, err := os.Stat(path)
	if err != nil {
		return Session{}, fmt.Errorf("read manifest: %w", err)
	}
	if st.Size() > maxManifest {
		return Session{}, fmt.Errorf("%w: %s has %d bytes", ErrManifest, path, st.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Session{}, fmt.Errorf("read manifest: %w", err)
	}
	r, err := decodeManifest(b)
	if err != nil {
		return Session{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func decodeManifest(b []byte) (Session, error) {
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return Session{}, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	switch {
	case m.Version > manifestVersion:
		return Session{}, fmt.Errorf("%w (manifest %d, this one knows %d)", ErrNewer, m.Version, manifestVersion)
	case m.Version < 1 || m.ID == "":
		return Session{}, fmt.Errorf("%w: version or id is missing", ErrManifest)
	}
	return m.Session, nil
}
