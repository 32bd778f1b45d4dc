package paths

// checkPrivate relies on the user profile's access control list.
func checkPrivate(string) error { return nil }
