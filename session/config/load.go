package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// ReadFile reads and decodes a file. A missing file gives the defaults.
func ReadFile(path string) (*File, []byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return Empty(path), nil, nil
	}
	if err != nil {
		return nil, nil, Problems{{File: path, Text: errors.Unwrap(err).Error()}}
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, nil, Problems{{File: path, Text: err.Error()}}
	case len(src) > maxFile:
		return nil, nil, Problems{{File: path, Text: fmt.Sprintf("the file has more than %d bytes; this is no configuration", maxFile)}}
	}
	file, err := Decode(path, src)
	return file, src, err
}

// WriteFile replaces a file's content atomically. It follows a symbolic link and keeps the file's mode.
func WriteFile(path string, src []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o600)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	// The user may edit the file meanwhile; no lock protects it.
	if err := atomicfile.Write(path, atomicfile.Options{Sync: atomicfile.Content, Mode: mode, Shared: true}, src); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}
