package web

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// Certificate is read from its files, again when they change.
type Certificate struct {
	Cert, Key string // paths

	mu   sync.Mutex
	read time.Time // modification of the file that was read
	have *tls.Certificate
}

// Get implements tls.Config.GetCertificate.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, err := os.Stat(c.Cert)
	if err == nil && c.have != nil && st.ModTime().Equal(c.read) {
		return c.have, nil
	}
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.Cert, c.Key); err == nil {
			c.have, c.read = &pair, st.ModTime()
			return c.have, nil
		}
	}
	if c.have != nil { // it is being replaced
		return c.have, nil
	}
	return nil, fmt.Errorf("the certificate: %w", err)
}
