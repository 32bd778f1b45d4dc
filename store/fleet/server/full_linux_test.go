//go:build linux && !race

package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/store/fleet"
)

// logged collects the log, for reading while it is written.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestDiskThatGetsFull checks that a lone server on a disk that becomes full keeps and serves its data, names the
// remedy, and continues once there is space: with all that it had confirmed, and without a restart.
//
// FEATURES: R94
func TestDiskThatGetsFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=600m"); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	var said logged
	s := alone(t, dir, slog.New(slog.NewTextHandler(&said, nil)))
	js, err := jetstream.New(s.local)
	if err != nil {
		t.Fatal(err)
	}
	var kept []uint64
	random := rand.NewChaCha8([32]byte{})
	put := func() error {
		b := make([]byte, 64<<10)
		_, _ = random.Read(b)
		ctx, done := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer done()
		ack, err := js.Publish(ctx, fleet.CopySubject("a", "s"), b, jetstream.WithRetryAttempts(0))
		if err == nil {
			kept = append(kept, ack.Sequence)
		}
		return err
	}
	looked := func() error { // whether it is ready to be read
		_, err := js.KeyValue(t.Context(), fleet.Bucket)
		return err
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for put() != nil { // until the stream of replicas exists
		<-look.C
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	used := (int64(fs.Blocks) - int64(fs.Bfree)) * fs.Bsize //nolint:gosec // small
	resize := func(bytes int64) {
		t.Helper()
		if err := unix.Mount("none", dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprint("size=", bytes)); err != nil {
			t.Fatal(err)
		}
	}
	resize(used + 1<<20)
	for put() == nil {
	}
	for !strings.Contains(said.String(), "writes rejected") {
		<-look.C
	}
	if err := looked(); err != nil {
		t.Errorf("its data is not served while its disk is full: %v", err)
	}
	resize(600 << 20)
	for put() != nil {
		<-look.C
	}
	for !strings.Contains(said.String(), "disk has space again") {
		<-look.C
	}
	stream, err := js.Stream(t.Context(), fleet.CopyStream)
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range kept {
		if m, err := stream.GetMsg(t.Context(), seq); err != nil || len(m.Data) != 64<<10 {
			t.Errorf("message %d of %d, which was confirmed: %v", seq, len(kept), err)
		}
	}
}
