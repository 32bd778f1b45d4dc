//go:build !linux

package sys

import (
	"errors"
	"syscall"
)

// ReceiveNotification fails: unsupported here.
func ReceiveNotification(int) (Notification, error) { return Notification{}, errors.ErrUnsupported }

// NotificationSize is that of nothing.
const NotificationSize = 8

// ReceiveNotificationInto fails likewise.
func ReceiveNotificationInto(int, []byte) (Notification, error) {
	return Notification{}, errors.ErrUnsupported
}

// NotificationComes returns false.
func NotificationComes(int) bool { return false }

// NotificationIn returns the zero value.
func NotificationIn([]byte) Notification { return Notification{} }

// AnswerNotification fails likewise.
func AnswerNotification(int, uint64, syscall.Errno) error { return errors.ErrUnsupported }

// IsExecution returns true; no notification exists here.
func (Notification) IsExecution() bool { return true }

// Aim returns the zero value.
func (Notification) Aim() Aim { return Aim{} }

// SharesPIDs returns true: this system has one namespace.
func SharesPIDs(int) bool { return true }

// NotificationValid returns false.
func NotificationValid(int, uint64) bool { return false }

// WakeAtOnce does nothing.
func WakeAtOnce(int) {}

// ReadExecution fails likewise.
func ReadExecution(Notification, int) (Execution, error) { return Execution{}, errors.ErrUnsupported }
