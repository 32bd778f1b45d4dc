package draft

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Names of the files in a draft's directory.
const (
	lockName  = "lock"
	cacheName = "cache"
	seenName  = "seen"
	planName  = "commit"
)

// Draft is a draft's directory. Its methods may be called by any goroutine; those that read or write the upper directories
// exclude each other, also between processes.
type Draft struct {
	dir  string
	mu   sync.Mutex // guards info and seen; taken before the lock file
	info Info

	seen         *scanRecords
	seenVersion  version             // version of the file from which seen was read
	equalContent map[[2]version]bool // pairs of entry and root's file that had equal content

	// For tests.
	hook       func(op, rel string) error // precedes each step of a commit
	alwaysCopy bool                       // never renames
	keepOpaque bool                       // leaves the mark of opaque directories
}

// Create makes a draft at dir, which must not exist. Its parent must exist, on a file system with user attributes that is
// no overlay itself.
func Create(dir string, o Options) (_ *Draft, err error) {
	if err := checkRoots(o.Roots); err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	d := &Draft{dir: dir, info: Info{
		Version: recordVersion, Session: o.Session, Command: o.Command, Started: o.Started, Roots: o.Roots, State: StateOpen,
	}}
	if d.info.Started.IsZero() {
		d.info.Started = time.Now()
	}
	for _, r := range d.Roots() {
		if err := makeOverlayDirs(r); err != nil {
			return nil, fmt.Errorf("draft: %w", err)
		}
	}
	stamp := filepath.Join(dir, lockName)
	if err := os.WriteFile(stamp, nil, 0o600); err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(stamp, &st); err != nil {
		return nil, &os.PathError{Op: "lstat", Path: stamp, Err: err}
	}
	d.info.Stamp = st.Ctim.Nano()
	return d, d.writeInfo()
}

// makeOverlayDirs makes the upper and work directory of a root. The upper directory has the mode and owner of the root, since
// the overlay shows them.
func makeOverlayDirs(r Root) error {
	var st unix.Stat_t
	if err := unix.Lstat(r.Lower, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: r.Lower, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return fmt.Errorf("root %s: not a directory", r.Lower)
	}
	for _, p := range []string{filepath.Dir(r.Upper), r.Upper, r.Work} {
		if err := os.Mkdir(p, 0o700); err != nil {
			return err
		}
	}
	if err := copyOwnerMode(r); err != nil {
		return err
	}
	return copyAttributes(r)
}

// copyOwnerMode sets the owner and mode of the upper directory to those of the root.
func copyOwnerMode(r Root) error {
	var st unix.Stat_t
	if err := unix.Lstat(r.Lower, &st); err != nil {
		return &os.PathError{Op: "lstat", Path: r.Lower, Err: err}
	}
	if err := unix.Lchown(r.Upper, int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, unix.EPERM) {
		return &os.PathError{Op: "chown", Path: r.Upper, Err: err}
	}
	return unix.Chmod(r.Upper, st.Mode&0o7777)
}

// Open returns the draft at dir.
func Open(dir string) (*Draft, error) {
	path := filepath.Join(dir, infoName)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	in, err := decodeInfo(b)
	if err != nil {
		return nil, fmt.Errorf("draft: %s: %w", path, err)
	}
	return &Draft{dir: dir, info: in}, nil
}

// writeInfo replaces draft.json.
func (d *Draft) writeInfo() error {
	b, err := json.MarshalIndent(d.info, "", "\t")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(d.dir, infoName), atomicfile.Options{Sync: atomicfile.ContentAndName}, b, []byte("\n"))
}

// Dir returns the draft's directory.
func (d *Draft) Dir() string { return d.dir }

// Info returns what draft.json holds.
func (d *Draft) Info() Info {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.info
}

// Roots returns the roots and their overlays' directories, in the order of Options.Roots.
func (d *Draft) Roots() []Root {
	roots := make([]Root, len(d.info.Roots))
	for i, lower := range d.info.Roots {
		at := filepath.Join(d.dir, strconv.Itoa(i))
		roots[i] = Root{Lower: lower, Upper: filepath.Join(at, "upper"), Work: filepath.Join(at, "work")}
	}
	return roots
}

// Cache returns the directories of an overlay over a directory whose changes are lost with the session, and makes them if needed.
func (d *Draft) Cache(lower string) (Root, error) {
	sum := sha256.Sum256([]byte(lower))
	at := filepath.Join(d.dir, cacheName, hex.EncodeToString(sum[:8]))
	r := Root{Lower: lower, Upper: filepath.Join(at, "upper"), Work: filepath.Join(at, "work")}
	if _, err := os.Lstat(r.Work); err == nil {
		return r, nil
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return r, fmt.Errorf("draft: %w", err)
	}
	if err := makeOverlayDirs(r); err != nil {
		return r, fmt.Errorf("draft: %w", err)
	}
	return r, nil
}

// RemoveCaches removes the changes of caches. It returns ErrMounted if the session is running.
func (d *Draft) RemoveCaches() error {
	unlock, err := d.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if d.isMounted() {
		return ErrMounted
	}
	dir, err := openRoot(d.dir)
	if err != nil {
		return fmt.Errorf("draft: %w", err)
	}
	defer closeFD(dir)
	if err := removeTree(dir, cacheName); err != nil {
		return fmt.Errorf("draft: remove the changes of caches: %w", err)
	}
	return nil
}

// LockMount locks the draft for the process that mounts its overlays, since the kernel does not refuse a second mount of the
// same upper directory. The lock lasts until the file and all its duplicates in other processes are closed. It returns
// ErrMounted if the lock is taken, also by the same process.
func (d *Draft) LockMount() (*os.File, error) {
	f, err := os.OpenFile(MountLockPath(d.dir), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrMounted
		}
		return nil, fmt.Errorf("draft: lock %s: %w", f.Name(), err)
	}
	return f, nil
}

// isMounted reports whether a process holds the lock of LockMount.
func (d *Draft) isMounted() bool {
	f, err := d.LockMount()
	if err != nil {
		return errors.Is(err, ErrMounted)
	}
	_ = f.Close()
	return false
}

// lock excludes other processes that scan, commit or discard. It waits for them, and fails if the draft was removed.
func (d *Draft) lock() (unlock func(), err error) {
	d.mu.Lock()
	f, err := os.OpenFile(filepath.Join(d.dir, lockName), os.O_RDWR, 0) // Create has made it
	if err == nil {
		if err = flock(f, unix.LOCK_EX); err == nil {
			_, err = os.Lstat(filepath.Join(d.dir, infoName))
		}
		if err != nil {
			_ = f.Close()
		}
	}
	if err != nil {
		d.mu.Unlock()
		return nil, fmt.Errorf("draft: %w", err)
	}
	return func() {
		_ = f.Close()
		d.mu.Unlock()
	}, nil
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// End records that the session has ended.
func (d *Draft) End() error {
	unlock, err := d.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if d.info.State != StateOpen {
		return nil
	}
	d.info.State = StateEnded
	return d.writeInfo()
}
