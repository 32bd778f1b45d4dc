package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	nats "github.com/nats-io/nats-server/v2/server"
)

// JetStream after a failed write: in a cluster it shuts down, so that other servers lead. Alone it still serves reads,
// but rejects all writes to that stream, even with space on the disk. Either way JetStream must restart, which keeps
// all confirmed messages and needs no restart of the server.

// requiredSpace is the free space that a restart of JetStream requires: with less, the first messages would fill the disk
// again.
const requiredSpace = 1 << 20

// restartJetStream restarts JetStream after it stopped accepting writes, as on a full disk, once there is space.
func (s *Server) restartJetStream() {
	on, err := s.srv.JetStreamEnabled(), s.writeError()
	if on && err == "" {
		if s.rejectsWrites {
			s.cfg.Log.Warn("disk has space again: writes accepted", "dir", s.cfg.Dir)
		}
		s.rejectsWrites = false
		return
	}
	if !s.rejectsWrites { // it may be on its way down
		s.rejectsWrites = true
		s.cfg.Log.Error("writes rejected: disk full or not writable; free some space, the server then resumes", "dir", s.cfg.Dir, "err", err)
		return
	}
	if err := s.checkSpace(); err != nil {
		s.cfg.Log.Info("what is kept cannot be written yet", "err", err)
		return
	}
	if on {
		if err := s.srv.ShutdownJetStream(); err != nil {
			s.cfg.Log.Info("what is kept cannot be closed", "err", err)
			return
		}
	}
	if err := s.srv.EnableJetStream(&nats.JetStreamConfig{StoreDir: s.dir}); err != nil {
		s.cfg.Log.Info("what is kept cannot be used yet", "err", err)
	}
}

// writeError returns why a stream rejects writes, or "" if all accept them.
func (s *Server) writeError() string {
	for _, e := range s.srv.Healthz(&nats.HealthzOptions{Details: true}).Errors {
		if e.Type == nats.HealthzErrorStream && strings.Contains(e.Error, "write error") {
			return e.Error
		}
	}
	return ""
}

// checkSpace returns an error if requiredSpace bytes cannot be written to the disk.
func (s *Server) checkSpace() error {
	f, err := os.OpenFile(filepath.Join(s.cfg.Dir, "room"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("the disk: %w", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	if _, err = f.Write(make([]byte, requiredSpace)); err == nil {
		err = f.Sync()
	}
	return err
}
