package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// ManifestName is the file's name in a session's directory.
	ManifestName = "session.json"
	// manifestVersion grows when an older longterm would misread the file.
	manifestVersion = 1
	// maxManifest bounds what is read, bytes.
	maxManifest = 16 << 20
)

// ErrManifest is returned for a file that is no manifest.
var ErrManifest = errors.New("not a session's manifest")

type manifest struct {
	Version int `json:"version"`
	Session
}

// WriteManifest replaces the manifest in a session's directory. It is whole whenever a
// process or the power fails: the old one or the new one.
func WriteManifest(dir string, r Session) error {
	b, err := json.MarshalIndent(manifest{manifestVersion, r}, "", "  ")
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	path := filepath.Join(dir, ManifestName)
	if err := replace(path, append(b, '\n')); err != nil {
		return Explain("write manifest", path, err)
	}
	return nil
}

// ReadManifest reads the manifest in a session's directory: os.ErrNotExist,
// ErrManifest, ErrNewer.
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

// replace writes a file beside path and puts it in its place. The content is synced
// first, so the name never stands for half a file; the name itself is not, because a
// sync of the directory doubles the cost and would only keep the old content away.
func replace(path string, b []byte) error {
	tmp := path + ".tmp"
	err := writeSynced(tmp, b)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		if rerr := os.Remove(tmp); !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return err
	}
	return nil
}

func writeSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
