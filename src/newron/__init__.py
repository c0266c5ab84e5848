"""newron"""
