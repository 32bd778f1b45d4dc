package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	nats "github.com/nats-io/nats-server/v2/server"
)

// JetStream, where a write fails: in a cluster it gives up altogether, so that others lead. Alone it goes on telling what it
// has, but the stream that was written takes nothing any more, whatever becomes of the disk. Either way it has to begin
// anew, which it does without a restart of the server, and with all that was confirmed.

// roomBytes is what has to be free until it is tried again: with less the first messages would fill the disk anew.
const roomBytes = 1 << 20

// keepsAgain has JetStream begin anew where it takes nothing any more, as when its disk was full, once there is room.
func (s *Server) keepsAgain() {
	on, err := s.srv.JetStreamEnabled(), s.writeError()
	if on && err == "" {
		if s.down {
			s.cfg.Log.Warn("there is room again: what is given is kept", "dir", s.cfg.Dir)
		}
		s.down = false
		return
	}
	if !s.down { // it may be on its way down
		s.down = true
		s.cfg.Log.Error("nothing new is kept: the disk is full, or cannot be written; free room there, and it goes on by itself", "dir", s.cfg.Dir, "err", err)
		return
	}
	if err := s.room(); err != nil {
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

// writeError is why a stream takes nothing any more; empty: each does.
func (s *Server) writeError() string {
	for _, e := range s.srv.Healthz(&nats.HealthzOptions{Details: true}).Errors {
		if e.Type == nats.HealthzErrorStream && strings.Contains(e.Error, "write error") {
			return e.Error
		}
	}
	return ""
}

// room says why there is none on the disk.
func (s *Server) room() error {
	f, err := os.OpenFile(filepath.Join(s.cfg.Dir, "room"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("the disk: %w", err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	if _, err = f.Write(make([]byte, roomBytes)); err == nil {
		err = f.Sync()
	}
	return err
}
