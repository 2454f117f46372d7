"""From files to a lake graph: readers, profiles, edges, storage."""
