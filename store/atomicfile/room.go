package atomicfile

import (
	"errors"
	"os"
)

// wantedSpace is the space in bytes that a small database with its side files needs.
const wantedSpace = 64 << 10

// CheckSpace returns an error if a file of a few pages cannot be written to a directory. Callers use it to explain failures
// whose own error does not name a full disk.
func CheckSpace(dir string) error { return disk{}.room(dir) }

func (d disk) room(dir string) error {
	f, err := os.CreateTemp(dir, ".room-*.tmp")
	if err != nil {
		return err
	}
	w := d.wrapFile(f)
	_, err = w.Write(make([]byte, wantedSpace))
	return errors.Join(err, w.Close(), removeIfExists(f.Name()))
}
