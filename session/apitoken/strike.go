package apitoken

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Revocation must work on a full disk. The file cannot be replaced there, but its content can be overwritten: zeros in
// place of a token's hash match no secret.

// struckHash replaces the hash of a token revoked that way.
var struckHash = strings.Repeat("0", 64)

// strike invalidates the token of a hash if the file cannot be replaced.
func (s *Store) strike(hash string) error {
	b, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	at := bytes.Index(b, []byte(hash))
	if at < 0 || hash == "" {
		return fmt.Errorf("strike a token out: %w", fs.ErrNotExist)
	}
	f, err := os.OpenFile(s.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	write := s.struck
	if write == nil {
		write = (*os.File).WriteAt
	}
	_, err = write(f, []byte(struckHash), int64(at))
	return errors.Join(err, f.Sync(), f.Close())
}

// dropRevoked removes the revoked tokens from all, in place, and returns the rest.
func (s *Store) dropRevoked(all []Token) []Token {
	kept := all[:0]
	for _, t := range all {
		if t.Hash != struckHash && !s.gone[t.Hash] {
			kept = append(kept, t)
		}
	}
	return kept
}

// NotKeptError reports a revoked token that the file still contains: a daemon that starts before space is freed would
// accept it.
type NotKeptError struct{ Err error }

func (e *NotKeptError) Error() string {
	return fmt.Sprintf("revoked, but not saved: %v", e.Err)
}
func (e *NotKeptError) Unwrap() error { return e.Err }
