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

// Read reads a file. One that is not there gives the defaults.
func Read(path string) (*File, []byte, error) {
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

// Write replaces a file's content in one step: no reader sees half of it, and a crash leaves
// the old or the new. A link stays a link, and the mode is kept.
func Write(path string, src []byte) error {
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
	// A user wrote it, and nothing else has it.
	if err := atomicfile.Write(path, atomicfile.Options{Sync: atomicfile.Content, Mode: mode, Shared: true}, src); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}
