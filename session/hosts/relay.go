package hosts

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/hashicorp/yamux"
)

// muxSettings returns the settings of the shared connection. A dead one is detected after about ten seconds; an idle
// one costs a dozen bytes every five.
func muxSettings() *yamux.Config {
	c := yamux.DefaultConfig()
	c.LogOutput = io.Discard
	c.KeepAliveInterval = 5 * time.Second
	c.ConnectionWriteTimeout = 10 * time.Second
	c.MaxStreamWindowSize = 1 << 20
	c.StreamCloseTimeout = 30 * time.Second
	return c
}

// duplexPipe joins two one-way streams.
type duplexPipe struct {
	io.Reader
	io.Writer
	close func() error
}

func (p duplexPipe) Close() error { return p.close() }

// closeAll returns a function that closes all closable ends.
func closeAll(ends ...any) func() error {
	return func() (err error) {
		for _, end := range ends {
			if c, ok := end.(io.Closer); ok {
				err = errors.Join(err, c.Close())
			}
		}
		return err
	}
}

// relay forwards bytes both ways until both ends have ended, or one is closed.
func relay(st *yamux.Stream, conn net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := io.Copy(st, conn)
		_ = st.Close() // ends this direction; the other one is still read
		if err != nil {
			_ = conn.Close()
		}
	}()
	_, err := io.Copy(conn, st)
	if half, ok := conn.(interface{ CloseWrite() error }); ok && err == nil && !st.Session().IsClosed() {
		err = half.CloseWrite()
	} else if err == nil {
		_ = conn.Close()
	}
	if err != nil { // the reader exited: pending bytes must not fill the window
		_ = conn.Close()
		_, _ = io.Copy(io.Discard, st)
	}
	<-done
	_ = conn.Close()
	_ = st.Close()
}
