package web

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// Certificate reads a certificate from its files, again when they change.
type Certificate struct {
	Cert, Key string // paths

	mu      sync.Mutex
	modTime time.Time // modification time of the file that was read
	cached  *tls.Certificate
}

// Get implements tls.Config.GetCertificate.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, err := os.Stat(c.Cert)
	if err == nil && c.cached != nil && st.ModTime().Equal(c.modTime) {
		return c.cached, nil
	}
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.Cert, c.Key); err == nil {
			c.cached, c.modTime = &pair, st.ModTime()
			return c.cached, nil
		}
	}
	if c.cached != nil { // it is being replaced
		return c.cached, nil
	}
	return nil, fmt.Errorf("the certificate: %w", err)
}
