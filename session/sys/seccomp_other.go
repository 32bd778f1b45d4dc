//go:build !linux

package sys

import (
	"errors"
	"syscall"
)

// ReceiveNotification fails: unsupported here.
func ReceiveNotification(int) (Notification, error) { return Notification{}, errors.ErrUnsupported }

// NotificationSize is unused here.
const NotificationSize = 8

// ReceiveNotificationInto fails.
func ReceiveNotificationInto(int, []byte) (Notification, error) {
	return Notification{}, errors.ErrUnsupported
}

// HasNotification returns false.
func HasNotification(int) bool { return false }

// NotificationAt returns the zero value.
func NotificationAt([]byte) Notification { return Notification{} }

// AnswerNotification fails.
func AnswerNotification(int, uint64, syscall.Errno) error { return errors.ErrUnsupported }

// IsExecution returns true; there are no notifications here.
func (Notification) IsExecution() bool { return true }

// Target returns the zero value.
func (Notification) Target() SignalTarget { return SignalTarget{} }

// SharesPIDNamespace returns true: this system has one namespace.
func SharesPIDNamespace(int) bool { return true }

// IsNotificationValid returns false.
func IsNotificationValid(int, uint64) bool { return false }

// SetSyncWakeUp does nothing.
func SetSyncWakeUp(int) {}

// ReadExecution fails.
func ReadExecution(Notification, int) (Execution, error) { return Execution{}, errors.ErrUnsupported }
