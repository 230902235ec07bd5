#!/usr/bin/env python
# coding: utf-8

# # Regression with a small network

# In[1]:


import pandas as pd
import numpy as np
from tensorflow import keras


# In[2]:


df = pd.DataFrame(np.random.RandomState(2).rand(64, 4), columns=['a', 'b', 'c', 'target'])
df.head()


# In[3]:


X = df.drop('target', axis=1)
y = df['target']
X_train, X_test = X[:48], X[48:]
y_train, y_test = y[:48], y[48:]


# In[4]:


model = keras.models.Sequential(
    [
        keras.layers.Dense(12, activation='relu', input_shape=[3]),
        keras.layers.Dense(6, activation='relu'),
        keras.layers.Dense(1),
    ]
)
model.summary()


# In[5]:


model.compile(loss='mae', optimizer=keras.optimizers.Adagrad(0.05), metrics=['mse'])
history = model.fit(X_train, y_train, epochs=3, verbose=0)


# In[6]:


print('score', model.evaluate(X_test, y_test, verbose=0) is not None)
