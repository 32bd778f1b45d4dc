package access

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// What is taken back on a full disk has to be taken back. A file cannot be replaced there, but what is in it can be overwritten:
// in the place of the hash of a token's secret come as many zeros, which are that of none.

// struckHash is what stands in the place of the hash of a token that was taken back so.
var struckHash = strings.Repeat("0", 64)

// strike has the token of a hash count no more, where the file cannot be replaced.
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

// counting are the tokens of a file that were not taken back.
func (s *Store) counting(all []Token) []Token {
	kept := all[:0]
	for _, t := range all {
		if t.Hash != struckHash && !s.gone[t.Hash] {
			kept = append(kept, t)
		}
	}
	return kept
}

// NotKeptError says that a token counts no more, and that the file says otherwise still: of a daemon that begins before there is
// room it would.
type NotKeptError struct{ Err error }

func (e *NotKeptError) Error() string {
	return fmt.Sprintf("it counts no more, but that could not be written down: %v", e.Err)
}
func (e *NotKeptError) Unwrap() error { return e.Err }
